# Stage 5 of the CARB paper: every scorer on the items, on rewrites of them, and on what policies answer; and the judges of
# Think-as-Locals.


rule carb_states:
    # What a base's reward models share on CARB's items, on their rewrites, or on place quartets, is computed once.
    input:
        base=lambda wc: MODELS.reward_base(wc.base),
        item_files=lambda wc: expand(
            "<prepared>/{itemset}/{culture}.jsonl",
            itemset=PERTURBED_SETS if wc.itemset == "carb_perturbed" else wc.itemset,
            culture=QUARTET_LANGUAGES if wc.itemset == "quartets" else CULTURES,
        ),
    output:
        temp("<scores>/frozen/{base}/{itemset}.safetensors"),
    log:
        "<logs>/carb_states/{base}_{itemset}.log",
    benchmark:
        "<benchmarks>/carb_states/{base}_{itemset}.tsv"
    wildcard_constraints:
        itemset="carb|carb_perturbed|quartets",
    priority: 1
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score_long", "{base}", minutes=240),
    params:
        limits=[SETTINGS.top_layers, SETTINGS.scoring.max_length, SETTINGS.scoring.token_budget],
    script:
        "../scripts/score/carb_states.py"


rule carb_scores:
    # A scorer is loaded once for all cultures; the prompt of an item is computed once for its four answers.
    input:
        models=lambda wc: CARB_FOLDERS[wc.scorer],
        item_files=expand("<prepared>/carb/{culture}.jsonl", culture=CULTURES),
        frozen=lambda wc: frozen_states(wc.scorer, "carb"),
    output:
        expand("<scores>/carb/{{scorer}}/{culture}.parquet", culture=CULTURES),
    log:
        "<logs>/carb_scores/{scorer}.log",
    benchmark:
        "<benchmarks>/carb_scores/{scorer}.tsv"
    wildcard_constraints:
        scorer=one_of(name for name in CARB_SCORERS if SHEET.kind[name] != "baseline"),
    priority: lambda wc: int(SHEET.kind[wc.scorer] == "generative")  # judges take longest
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score_long", "{scorer}", minutes=1440),
    params:
        entry=lambda wc: CARB_ENTRIES[wc.scorer],
        scoring=SCORING,
        cache=lambda wc: f"{REPLIES}/{wc.scorer.removesuffix(KNOCKOUT)}",
        may_be_missing=lambda wc, output: wc.scorer in MAY_BE_MISSING,
        knockout=lambda wc: seed_of("knockout") if wc.scorer.endswith(KNOCKOUT) else None,
    script:
        "../scripts/score/carb_scores.py"


rule carb_likelihood_scores:
    # The whole base, untrained: an answer's log-likelihood, and what the prompt adds to it (PMI).
    input:
        base=lambda wc: MODELS.base(wc.base),
        item_files=expand("<prepared>/carb/{culture}.jsonl", culture=CULTURES),
    output:
        expand("<scores>/carb/{kind}-{{base}}/{culture}.parquet", kind=["loglik", "pmi"], culture=CULTURES),
    log:
        "<logs>/carb_likelihood_scores/{base}.log",
    benchmark:
        "<benchmarks>/carb_likelihood_scores/{base}.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score", "{base}", minutes=240),
    params:
        scoring=SCORING,
    script:
        "../scripts/score/carb_likelihood_scores.py"


use rule carb_scores as candidate_scores with:
    # A scorer on policies' answers to questions, of which it picks one.
    input:
        models=lambda wc: CARB_FOLDERS[wc.scorer],
        item_files=expand("<scores>/candidates/{policy}.jsonl", policy=CARB.policies),
        frozen=[],
    output:
        expand("<scores>/candidates/{{scorer}}/{policy}.parquet", policy=CARB.policies),
    log:
        "<logs>/candidate_scores/{scorer}.log",
    benchmark:
        "<benchmarks>/candidate_scores/{scorer}.tsv"


use rule carb_scores as quartet_scores with:
    # A scorer on place quartets. Log-likelihood is that of the whole base, and without a place, too, for PMI.
    input:
        models=lambda wc: CARB_FOLDERS[wc.scorer],
        item_files=expand("<prepared>/{{itemset}}/{language}.jsonl", language=QUARTET_LANGUAGES),
        frozen=lambda wc: frozen_states(wc.scorer, "quartets"),
    output:
        expand("<scores>/{{itemset}}/{{scorer}}/{language}.parquet", language=QUARTET_LANGUAGES),
    log:
        "<logs>/quartet_scores/{itemset}_{scorer}.log",
    benchmark:
        "<benchmarks>/quartet_scores/{itemset}_{scorer}.tsv"
    wildcard_constraints:
        itemset="quartets|unplaced_quartets",
        scorer=one_of(name for name in QUARTET_SCORERS if name not in QUARTET_TEXT),


rule carb_perturbed_scores:
    # A reward model is loaded once for the rewrites and for the same answers in all languages. A judge sees them in pairs.
    input:
        models=lambda wc: CARB_FOLDERS[wc.scorer],
        item_files=expand("<prepared>/{items}/{culture}.jsonl", items=PERTURBED_SETS, culture=CULTURES),
        frozen=lambda wc: frozen_states(wc.scorer, "carb_perturbed"),
    output:
        scores=expand("<scores>/{items}/{{scorer}}/{culture}.parquet", items=PERTURBED_SETS, culture=CULTURES),
        replies="<scores>/carb_perturbation/{scorer}/replies.csv",
    log:
        "<logs>/carb_perturbed_scores/{scorer}.log",
    benchmark:
        "<benchmarks>/carb_perturbed_scores/{scorer}.tsv"
    wildcard_constraints:
        scorer=one_of(REWARD_MODELS),
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score_long", "{scorer}", minutes=720),
    params:
        entry=lambda wc: CARB_ENTRIES[wc.scorer],
        scoring=SCORING,
        cache=f"{REPLIES}/{{scorer}}",
        may_be_missing=lambda wc, output: wc.scorer in MAY_BE_MISSING,
    script:
        "../scripts/score/carb_perturbed_scores.py"


use rule carb_perturbed_scores as locals_perturbed_scores with:
    # Judges that write criteria are slow, so they see only rewrites of the cultures that they are evaluated on.
    input:
        models=lambda wc: FOLDERS[wc.scorer],
        item_files=expand("<prepared>/carb_perturbation/{culture}.jsonl", culture=LOCALS.evaluation.cultures),
        frozen=[],
    output:
        scores=expand(
            "<scores>/carb_perturbation/{{scorer}}/{culture}.parquet", culture=LOCALS.evaluation.cultures
        ),
        replies="<scores>/carb_perturbation/{scorer}/replies.csv",
    log:
        "<logs>/locals_perturbed_scores/{scorer}.log",
    benchmark:
        "<benchmarks>/locals_perturbed_scores/{scorer}.tsv"
    wildcard_constraints:
        scorer=one_of(PERTURBED_JUDGES),
    resources:
        **for_models("score_long", "{scorer}", minutes=240, tokens=LOCALS_SCORING["token_budget"]),
    params:
        entry=lambda wc: ENTRIES[wc.scorer],
        scoring=LOCALS_SCORING,


rule locals_scores:
    # A judge on the parts of both benchmarks that config.yaml names: in the layout of Think-as-Locals, or of others as they are asked.
    input:
        models=lambda wc: FOLDERS[wc.judge],
        rows=expand("<translated>/{benchmark}/{language}.jsonl", benchmark=JUDGED, language=JUDGED_LANGUAGES),
        item_files=expand("<prepared>/carb/{culture}.jsonl", culture=LOCALS.evaluation.cultures),
    output:
        rewardbench="<scores>/locals/{judge}/rewardbench.parquet",
        carb="<scores>/locals/{judge}/carb.parquet",
        matches="<scores>/locals/{judge}/matches.parquet",
        replies="<scores>/locals/{judge}/replies.csv",
    log:
        "<logs>/locals_scores/{judge}.log",
    benchmark:
        "<benchmarks>/locals_scores/{judge}.tsv"
    wildcard_constraints:
        judge=one_of(dict.fromkeys(SCORES.scorer[SCORES.benchmark == "locals"])),
    priority: 1
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score_long", "{judge}", minutes=720, tokens=LOCALS_SCORING["token_budget"]),
    params:
        entry=lambda wc: ENTRIES[wc.judge],
        scoring=LOCALS_SCORING,
        cache=f"{REPLIES}/{{judge}}",
        may_be_missing=lambda wc, output: wc.judge in MAY_BE_MISSING,
        benchmark=JUDGED,
        languages=JUDGED_LANGUAGES,
        part={
            "rows_per_subset": LOCALS.evaluation.rows_per_subset,
            "items_per_cell": LOCALS.evaluation.items_per_cell,
        },
        seed=seed_of("locals_scores"),
    script:
        "../scripts/score/locals_scores.py"


rule locals_held_out:
    # What a judge has learnt: its verdicts on pairs of the topics that it is trained on, which it was not trained on.
    input:
        models=lambda wc: FOLDERS[wc.learner],
        questions="<prepared>/locals/held_out.jsonl",
    output:
        "<scores>/locals/{learner}/held_out.parquet",
    log:
        "<logs>/locals_held_out/{learner}.log",
    benchmark:
        "<benchmarks>/locals_held_out/{learner}.tsv"
    wildcard_constraints:
        learner=one_of(dict.fromkeys(SCORES.scorer[SCORES.table == "carb_locals_learning"])),
    priority: 1
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("score_long", "{learner}", minutes=120, tokens=LOCALS_SCORING["token_budget"]),
    params:
        entry=lambda wc: ENTRIES[wc.learner],
        scoring=LOCALS_SCORING,
        cache=f"{REPLIES}/locals",
    script:
        "../scripts/score/locals_held_out.py"


rule carb_text_scores:
    # A scorer that only reads answers, on the items or on their rewrites.
    input:
        item_files=expand("<prepared>/{{itemset}}/{culture}.jsonl", culture=CULTURES),
    output:
        expand("<scores>/{{itemset}}/{{scorer}}/{culture}.parquet", culture=CULTURES),
    log:
        "<logs>/carb_text_scores/{itemset}_{scorer}.log",
    benchmark:
        "<benchmarks>/carb_text_scores/{itemset}_{scorer}.tsv"
    wildcard_constraints:
        itemset="carb|carb_perturbation",
        scorer=one_of(CARB_TEXT),
    conda:
        "../../envs/score.yaml"
    script:
        "../scripts/score/carb_text_scores.py"


use rule carb_text_scores as quartet_text_scores with:
    # The same on place quartets: can length, or what an answer shares with a place's name, give it away?
    input:
        item_files=expand("<prepared>/quartets/{language}.jsonl", language=QUARTET_LANGUAGES),
    output:
        expand("<scores>/quartets/{{scorer}}/{language}.parquet", language=QUARTET_LANGUAGES),
    log:
        "<logs>/quartet_text_scores/{scorer}.log",
    benchmark:
        "<benchmarks>/quartet_text_scores/{scorer}.tsv"
    wildcard_constraints:
        scorer=one_of(QUARTET_TEXT),


rule candidates:
    # A policy's answers to questions with accepted answers, several to each.
    input:
        policy=lambda wc: MODELS.base(wc.policy),
        questions="<prepared>/carb/questions.jsonl",
    output:
        "<scores>/candidates/{policy}.jsonl",
    log:
        "<logs>/candidates/{policy}.log",
    benchmark:
        "<benchmarks>/candidates/{policy}.tsv"
    conda:
        "../../envs/score.yaml"
    threads: THREADS.score
    resources:
        **for_models("generate", "{policy}", minutes=480, tokens=CANDIDATES_AT_ONCE),
    params:
        policy=lambda wc: wc.policy,
        sampling={"settings": CARB.candidates, "precision": SETTINGS.precision},
        seed=lambda wc: seed_of("candidates", wc.policy),
    script:
        "../scripts/score/candidates.py"


use rule candidates as grpo_answers with:
    # The likeliest answer of a policy that was trained by GRPO, in its chat template, as it was trained.
    input:
        policy="<models>/policies/grpo_{scorer}",
        questions="<prepared>/carb/questions.jsonl",
    output:
        "<scores>/grpo/answers/{scorer}.jsonl",
    log:
        "<logs>/grpo_answers/{scorer}.log",
    benchmark:
        "<benchmarks>/grpo_answers/{scorer}.tsv"
    wildcard_constraints:
        scorer=one_of(REWARDING),
    resources:
        **for_models("generate", lambda wc: [CARB.grpo.policy], minutes=240, tokens=CANDIDATES_AT_ONCE),
    params:
        policy=lambda wc: f"grpo_{wc.scorer}",
        sampling={"settings": CARB.candidates, "precision": SETTINGS.precision, "greedy": True},
        seed=seed_of("grpo_answers"),


use rule grpo_answers as grpo_start_answers with:
    # The same of the policy before its training.
    input:
        policy=lambda wc: MODELS.base(CARB.grpo.policy),
        questions="<prepared>/carb/questions.jsonl",
    output:
        "<scores>/grpo/start.jsonl",
    log:
        "<logs>/grpo_start_answers/all.log",
    benchmark:
        "<benchmarks>/grpo_start_answers/all.tsv"
    params:
        policy=CARB.grpo and CARB.grpo.policy,
