"""Place quartets, CARB's test of culture: does a scorer know which answer is right in which place?"""
