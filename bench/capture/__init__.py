"""What durable capture costs, beside the same bytes redacted and committed and nothing else."""
