"""The verbs of the command line, one module each. They parse, call one library function, and show what it returns."""
