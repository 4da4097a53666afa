# Stage 5 of the CARB paper: every scorer on the items, on rewrites of them, and on what policies answer.


rule carb_item_states:
    # What a base's reward models share on CARB's items is computed once.
    input:
        base=lambda wc: SCALE.reward_base(wc.base),
        item_files=CARB.item_files,
    output:
        temp("<scores>/frozen/{base}/carb.safetensors"),
    priority: 1
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score_long", "{base}", minutes=240),
    params:
        limits=[SCALE.top_layers, SETTINGS.scoring.max_length, SETTINGS.scoring.token_budget],
    script:
        "../scripts/score/carb_item_states.py"


rule carb_scores:
    # A scorer is loaded once for all cultures; the prompt of an item is computed once for its four answers.
    input:
        models=lambda wc: CARB.folders(wc.scorer),
        item_files=CARB.item_files,
        frozen=lambda wc: CARB.item_states(wc.scorer),
    output:
        CARB.score_files(["{scorer}"]),
    wildcard_constraints:
        scorer=CARB.pattern(left_out=CARB.knockouts.values()),
    priority: lambda wc: int(CARB.entry(wc.scorer)["kind"] == "generative")  # judges take longest
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score_long", lambda wc: [CARB.model(wc.scorer)], minutes=1440),
    params:
        entry=lambda wc: CARB.entry(wc.scorer),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{scorer}"),
        knockout=None,
        may_be_missing=lambda wc, output: SCALE.may_be_missing(wc.scorer),
    script:
        "../scripts/score/carb_scores.py"


use rule carb_scores as carb_judge_scores with:
    input:
        models=lambda wc: CARB.folders(wc.scorer),
        item_files=CARB.item_files,
        frozen=[],
    output:
        CARB.score_files(["{scorer}", "{scorer}-knockout"]),
    wildcard_constraints:
        scorer=one_of(CARB.knockouts.values()),
    priority: 1  # the longest of the jobs
    resources:
        **RESOURCES.for_models("score_long", lambda wc: [CARB.model(wc.scorer)], minutes=720),
    params:
        knockout=SCALE.job_seed("knockout"),


use rule carb_item_states as carb_perturbed_states with:
    input:
        base=lambda wc: SCALE.reward_base(wc.base),
        item_files=CARB.perturbed_files(*PERTURBED_SETS),
    output:
        temp("<scores>/frozen/{base}/carb_perturbed.safetensors"),


rule carb_perturbed_scores:
    # A reward model is loaded once for the rewrites and for the same answers in all languages.
    input:
        models=lambda wc: CARB.folders(wc.scorer),
        item_files=CARB.perturbed_files(*PERTURBED_SETS),
        frozen=lambda wc: CARB.item_states(wc.scorer, "carb_perturbed"),
    output:
        scores=CARB.perturbed_score_files(PERTURBED_SETS, ["{scorer}"]),
        replies="<scores>/carb_perturbation/{scorer}/replies.csv",
    wildcard_constraints:
        scorer=CARB.pattern(left_out=SCALE.untrained),
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("score_long", lambda wc: [CARB.model(wc.scorer)], minutes=720),
    params:
        entry=lambda wc: CARB.entry(wc.scorer),
        scoring=SCALE.scoring,
        cache=PATHS.scores_cache("{scorer}"),
        may_be_missing=lambda wc, output: SCALE.may_be_missing(wc.scorer),
    script:
        "../scripts/score/carb_perturbed_scores.py"


use rule carb_perturbed_scores as locals_perturbed_scores with:
    # Judges that write criteria are slow, so they see only rewrites of the cultures that they are evaluated on.
    input:
        models=lambda wc: FILES.folders(JUDGES.judges[PERTURBED_JUDGES[wc.scorer]]),
        item_files=expand(
            "<prepared>/carb_perturbation/{culture}.jsonl",
            culture=JUDGES.settings.evaluation.cultures,
        ),
        frozen=[],
    output:
        scores=JUDGES.perturbed_score_files(["{scorer}"]),
        replies="<scores>/carb_perturbation/{scorer}/replies.csv",
    wildcard_constraints:
        scorer=one_of(PERTURBED_JUDGES),
    resources:
        **RESOURCES.for_models(
            "score_long",
            JUDGES.model,
            minutes=240,
            tokens=JUDGES.settings.judge_token_budget,
        ),
    params:
        entry=lambda wc: FILES.loadable(JUDGES.judges[PERTURBED_JUDGES[wc.scorer]]),
        scoring=JUDGES.scoring,


rule locals_scores:
    # A judge on the parts of both benchmarks that config.yaml names: in the layout of Think-as-Locals, or of others as they are asked.
    input:
        models=lambda wc: FILES.folders(JUDGES.judges[wc.judge]),
        rows=JUDGES.rows,
        item_files=expand("<prepared>/carb/{culture}.jsonl", culture=JUDGES.settings.evaluation.cultures),
    output:
        rewardbench="<scores>/locals/{judge}/rewardbench.parquet",
        carb="<scores>/locals/{judge}/carb.parquet",
        matches="<scores>/locals/{judge}/matches.parquet",
        replies="<scores>/locals/{judge}/replies.csv",
    wildcard_constraints:
        judge=one_of(JUDGES.judges),
    priority: 1
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models(
            "score_long",
            lambda wc: [JUDGES.model_of(wc.judge)],
            minutes=720,
            tokens=JUDGES.settings.judge_token_budget,
        ),
    params:
        entry=lambda wc: FILES.loadable(JUDGES.judges[wc.judge]),
        scoring=JUDGES.scoring,
        cache=PATHS.scores_cache("{judge}"),
        may_be_missing=lambda wc, output: SCALE.may_be_missing(wc.judge),
        benchmark=JUDGES.benchmark,
        languages=JUDGES.languages,
        part={
            "rows_per_subset": JUDGES.settings.evaluation.rows_per_subset,
            "items_per_cell": JUDGES.settings.evaluation.items_per_cell,
        },
        seed=SCALE.job_seed("locals_scores"),
    script:
        "../scripts/score/locals_scores.py"


rule locals_held_out:
    # What a judge has learnt: its verdicts on pairs of the topics that it is trained on, which it was not trained on.
    input:
        models=lambda wc: FILES.folders(JUDGES.written_by(wc.learner)),
        questions="<prepared>/locals/held_out.jsonl",
    output:
        "<scores>/locals/{learner}/held_out.parquet",
    wildcard_constraints:
        learner=one_of(JUDGES.learners),
    priority: 1
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models(
            "score_long",
            JUDGES.model,
            minutes=120,
            tokens=JUDGES.settings.judge_token_budget,
        ),
    params:
        entry=lambda wc: FILES.loadable(JUDGES.written_by(wc.learner)),
        scoring=JUDGES.scoring,
        cache=PATHS.scores_cache("locals"),
    script:
        "../scripts/score/locals_held_out.py"


rule carb_text_scores:
    input:
        item_files=CARB.item_files,
    output:
        CARB.score_files(TEXT_SCORERS),
    params:
        scorers=TEXT_SCORERS,
    script:
        "../scripts/score/carb_text_scores.py"


use rule carb_text_scores as carb_perturbed_text_scores with:
    input:
        item_files=CARB.perturbed_files("carb_perturbation"),
    output:
        CARB.perturbed_score_files(["carb_perturbation"], ["length"]),
    params:
        scorers=["length"],


rule candidates:
    # A policy's answers to questions with accepted answers, several to each.
    input:
        policy=lambda wc: SCALE.base_folder(wc.policy),
        questions="<prepared>/carb/questions.jsonl",
    output:
        "<scores>/candidates/{policy}.jsonl",
    threads: SETTINGS.threads.score
    resources:
        **RESOURCES.for_models("generate", "{policy}", minutes=480, tokens=CANDIDATES_AT_ONCE),
    params:
        policy=lambda wc: wc.policy,
        sampling={"settings": SETTINGS.carb.candidates, "precision": SETTINGS.precision},
        seed=lambda wc: SCALE.job_seed("candidates", wc.policy),
    script:
        "../scripts/score/candidates.py"


use rule candidates as grpo_answers with:
    # The likeliest answer of a policy that was trained by GRPO, in its chat template, as it was trained.
    input:
        policy="<models>/policies/grpo_{scorer}",
        questions="<prepared>/carb/questions.jsonl",
    output:
        "<scores>/grpo/answers/{scorer}.jsonl",
    wildcard_constraints:
        scorer=one_of(CARB.rewarding),
    resources:
        **RESOURCES.for_models(
            "generate", lambda wc: [SETTINGS.carb.grpo.policy], minutes=240, tokens=CANDIDATES_AT_ONCE
        ),
    params:
        policy=lambda wc: f"grpo_{wc.scorer}",
        sampling={"settings": SETTINGS.carb.candidates, "precision": SETTINGS.precision, "greedy": True},
        seed=SCALE.job_seed("grpo_answers"),


use rule grpo_answers as grpo_start_answers with:
    # The same of the policy before its training.
    input:
        policy=lambda wc: SCALE.base_folder(SETTINGS.carb.grpo.policy),
        questions="<prepared>/carb/questions.jsonl",
    output:
        "<scores>/grpo/start.jsonl",
    params:
        policy=SETTINGS.carb.grpo and SETTINGS.carb.grpo.policy,


use rule carb_scores as candidate_scores with:
    input:
        models=lambda wc: CARB.folders(wc.scorer),
        item_files=CARB.candidates,
        frozen=[],
    output:
        CARB.candidate_scores(["{scorer}"]),


use rule carb_judge_scores as candidate_judge_scores with:
    input:
        models=lambda wc: CARB.folders(wc.scorer),
        item_files=CARB.candidates,
        frozen=[],
    output:
        CARB.candidate_scores(["{scorer}", "{scorer}-knockout"]),
