"""Update rules: what one is, all of them by what they do (descent, Adam's family, Muon, ...), and their table."""
