"""The prompts of all three jobs, one file each. A version is part of the memo key and of what a prompt produced."""
