"""What reward models' choices are worth outside the benchmark."""
