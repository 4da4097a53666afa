# What the rules of the CARB paper share. No rules here.

from polyreward.carb.inputs import PERTURBED_SETS, TEXT_SCORERS, Carb
from polyreward.think_as_locals.inputs import ARTIFACTS as LOCALS_ARTIFACTS, ThinkAsLocals
from polyreward.think_as_locals.inputs import OURS, PERTURBED_JUDGES, TRAINED, WARMUPS

CARB = Carb(SCALE, FILES)
LOCALS = ThinkAsLocals(CARB)
STACKED["carb_construction"] = [PATHS.carb_step("counts.csv")]
STACKED["carb_locals_samples"] = [PATHS.locals_samples()]
NOTEBOOKS["carb"] = CARB.notebook


wildcard_constraints:
    local=one_of(LOCALS.judges),
    single=CARB.pattern(left_out=CARB.knockouts.values()),
    playing=one_of(CARB.knockouts.values()),
    perturbed=CARB.pattern(left_out=SCALE.loglikelihoods),
    perturbed_judge=one_of(PERTURBED_JUDGES),
    policy=one_of(CARB.policies),
