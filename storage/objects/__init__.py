"""Object stores under one protocol: a folder, memory, a bucket; their URLs, errors and retries."""
