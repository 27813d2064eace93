"""How much the benchmarks measure."""

RUNS = 5  # of which the median is taken, after one that is not counted
PAIRS = 7  # of a behaviour and the published program's
SLOW = 3  # the same, of what takes a second or more
STEPS = 50  # of every episode
EPISODES = 4000  # played at once
FEW = 20  # episodes that pure Python plays
LEARNERS, REHEARSALS = 200, 100  # episodes that compiled learners rehearse, and how often
ABREAST, REPEATS = 40, 5  # the same of learners that go step by step
MANY = 20_000  # episodes that are shared among processes
NEW = 1000  # environments made, and stepped by Gymnasium
MEMORY = (1000, 10_000, 100_000)  # numbers of episodes whose memory is compared
SCENARIOS, CONTINUATIONS = 160, 10  # of a suite, and of each scenario and agent
GROWN = 108  # scenarios of a suite, of which a fourth are continued too
MINED, MINED_TIMES = 80, 5  # scenarios of each domain, and continuations of each
LABELLED_TIMES = (1, 4)  # continuations of each scenario of a suite that is labelled
EDITED = 40  # candidates of each domain
LIVE_SECONDS = 30  # of each live session
EXPORTED = 500  # trajectories written in each format
WORLDS = 100  # stepped through the adapter at once
CLIPS = 500  # that each annotator judges before an export
CANDIDATES, OPENED, ACCEPTED = 10_000, 5, 60  # of a draft, and how often its page is used
ANYTIME_RUNS, UNIVERSAL_RUNS, CURRICULA = 60, 24, 8  # of each agent in each measure
