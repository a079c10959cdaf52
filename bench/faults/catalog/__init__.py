"""The faults: `first` has the 50 of the first bench as they were, `grown` the rest by family."""
