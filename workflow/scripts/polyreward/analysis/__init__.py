"""From scores to estimates: accuracies, comparisons, intervals, verdicts."""
