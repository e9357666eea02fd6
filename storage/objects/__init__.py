"""Object stores under one protocol: a folder and a bucket; their URLs and errors."""
