package logscan

import "slices"

// Options bound reading. Zero values mean defaults.
type Options struct {
	LogBudget int         // bytes of text kept of one log (32 KiB)
	Apart     int         // logs that are kept apart; of more, those that print what others print are counted (1024)
	Without   []Heuristic // left out, to measure what they are worth

	aheadFrom int64 // for tests: from this byte on a log is read ahead, however many there are; below 0: none is
	forgets   bool  // for tests: every line is judged anew
}

// Heuristic is one rule that may be wrong, by name.
type Heuristic string

// Heuristics are those of reading, in the order in which they are asked.
func Heuristics() []Heuristic {
	return []Heuristic{unwraps, translates, asksRaiser, readsCodes, asksPlace, asksSubject, lastLaunch, harmless, lastWords, success, survival, loggers, worksOn, calmEnd, platformsWord}
}

const (
	unwraps       Heuristic = "unwrap"         // an exception that hands on another one gives way to it
	translates    Heuristic = "translate"      // an exception that is the direct cause of a known one gives way to it
	asksRaiser    Heuristic = "raiser"         // what raised an exception says what its words do not
	readsCodes    Heuristic = "codes"          // an error of the operating system or of a driver is the same in the words of every runtime
	asksPlace     Heuristic = "place"          // where in native code a message comes from says what its words do not
	asksSubject   Heuristic = "subject"        // what a message in unknown words is about says what its cause is like
	lastLaunch    Heuristic = "last-launch"    // of several runs in one file the last one counts
	harmless      Heuristic = "harmless"       // what a context says is harmless below it
	lastWords     Heuristic = "last-resort"    // a line that its program calls an error, where nothing else speaks
	success       Heuristic = "success"        // a process that says that it ended well takes back what it said before
	survival      Heuristic = "survival"       // what training goes on after was survived
	loggers       Heuristic = "loggers"        // a logger that informs of other things to the end shows that what it complained of did not end its process
	worksOn       Heuristic = "works-on"       // lines of work to the end of a log show that what stands above ended nothing
	calmEnd       Heuristic = "calm-end"       // a log without complaint whose last lines say what was done, or its results, is of a run that went well
	platformsWord Heuristic = "platforms-word" // what the platform says of a container outranks its log
)

func (o *Options) uses(h Heuristic) bool { return !slices.Contains(o.Without, h) }
