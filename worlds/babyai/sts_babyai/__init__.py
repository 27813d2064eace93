"""BabyAI: language missions in a grid world, from the package minigrid (extra `babyai`).

Source: Chevalier-Boisvert et al. 2019, BabyAI: a platform to study the sample efficiency of
grounded language learning.
"""
