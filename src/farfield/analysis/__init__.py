"""Looking into trained networks: nothing stands here before a paper needs it."""
