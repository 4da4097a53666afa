"""Made-up items of CARB that judges of Think-as-Locals are trained on, and a reply of one."""

CULTURES = ["ar", "zh", "en", "de", "ja", "ko", "ru", "es", "th", "vi"]
DOMAINS = ["commonsense", "values", "safety", "linguistics"]
GOOD = "1. It fits everyday life in Germany.\n2. What is usual in Japan does not count here.\nVerdict: B"


def item(topic: str, culture: str, domain: str = "commonsense") -> dict:
    first, *others = [other for other in CULTURES if other != culture][:3]
    four = [first, culture, *others]
    return {
        "id": f"{topic}_{culture}", "culture": culture, "domain": domain, "source": "custom", "topic": topic,
        "prompt": f"What is {topic} in {culture}?", "answers": [f"{topic} of {other}" for other in four], "chosen": 1,
        "references": [{"value": other, "culture": other} for other in four],
    }  # fmt: skip


ITEMS = [
    item(f"{domain}-{n}", culture, domain) for domain in DOMAINS for n in range(2) for culture in ("de", "ja")
]
EASY = [
    {"id": f"off-{n}_0", "prompt": f"p{n}", "chosen": f"c{n}", "rejected": f"c{n + 1}"} for n in range(30)
]
