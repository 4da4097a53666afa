"""Which engine translates into a language, from which file, and with which models."""

from small_scale import small_scale

from polyreward.sheet.engines import Engine, engine_of


def test_a_catalog_translates_from_its_file_and_a_model_from_its_folder():
    models = small_scale()
    by_hand, llm = engine_of(models, "ko"), Engine(models, "llm", "ko")
    assert (by_hand.file, llm.file) == ("po/ko.po", "out/work/1_sources/models/m-ko")
    assert (by_hand.models, llm.models) == ([], ["m-ko"])
    assert by_hand.arguments == {"engine": by_hand.settings, "part": False}
    served = {"precision": "float32", "serve": models.settings.devices.serve}
    assert llm.arguments == {"engine": llm.settings, **served}
    english, released = Engine(models, "llm", "en"), Engine(models, "llm", "ko", released=True)
    for unused in (engine_of(models, "en"), english, released):
        assert unused.file == unused.models == []


def test_each_language_may_have_an_engine_and_a_folder_of_its_own():
    engine, folders = {"default": "by-hand", "ko": "llm"}, {"es": "folders/es"}
    models = small_scale(translation__engine=engine, language_folders=folders)
    assert [engine_of(models, language).name for language in ("es", "ko")] == ["by-hand", "llm"]
    assert engine_of(models, "es").file == "folders/es/catalog.po"
