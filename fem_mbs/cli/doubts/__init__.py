"""What `fem-mbs check` doubts of a model that is formally right: units, statics, sets, nodes that nothing connects."""
