"""One small file per noun: params in, one domain call, result out. `table` says which method is where."""
