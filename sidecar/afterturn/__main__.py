"""`python -m afterturn`: the same as the console script."""

from afterturn.launch import main

main()
