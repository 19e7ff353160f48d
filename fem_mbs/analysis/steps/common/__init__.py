"""Options, checks and words that several kinds of steps share."""
