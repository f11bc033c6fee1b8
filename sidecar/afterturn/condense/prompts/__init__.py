"""The prompts of condensing, one file each. A version is part of the memo key and of what a prompt produced."""
