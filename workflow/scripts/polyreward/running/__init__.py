"""Running jobs: settings, what reruns, machines, clusters, environments, costs."""
