"""Doubts of `fem-mbs check` about a model that is formally right: units, statics, sets, nodes that nothing connects."""
