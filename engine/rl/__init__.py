"""RL with coded actions as options: PPO, training, evaluation. torch lives only below here."""
