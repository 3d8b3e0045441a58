"""One file a family: a pure function from a config.json's keys to the architecture."""
