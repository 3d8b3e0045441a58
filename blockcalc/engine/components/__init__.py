"""One generator for each kind of component: its stages, in the order in which they run."""
