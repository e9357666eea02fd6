"""The browser as a process: started in an enclosure of its own, watched for its memory, and ended."""
