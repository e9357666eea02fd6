"""Pages of ours around other people's parts: an editor, a map and a chart, each with a server that keeps what is done."""
