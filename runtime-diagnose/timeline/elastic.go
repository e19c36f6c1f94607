package timeline

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Elastic is what a torchrun agent calls the root cause: the failure it observed first among
// the processes of its own node. It knows nothing of other nodes.
type Elastic struct {
	Rank     int // of the whole job
	ExitCode int
	At       time.Time // by the program's clock, of a zone that is not said
	Line     int       // of the heading
}

// Told says that the process only did what it was asked to: it got SIGTERM, or, as a closed terminal and Ctrl-C send
// them, SIGHUP or SIGINT.
func (e Elastic) Told() bool {
	switch e.ExitCode {
	case -1, -2, -15, 129, 130, 143:
		return true
	}
	return false
}

// The heading and the fields under it are those of torch.distributed.elastic
// (https://github.com/pytorch/pytorch/blob/main/torch/distributed/elastic/multiprocessing/errors/__init__.py).
const elasticHeading = "Root Cause (first observed failure)"

var (
	elasticTime = regexp.MustCompile(`\btime +: (\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d)`)
	elasticRank = regexp.MustCompile(`\brank +: (\d+) \(local_rank: \d+\)`)
	elasticExit = regexp.MustCompile(`\bexitcode +: (-?\d+)`)
)

// ElasticReader reads the block line by line. The zero value is ready.
type ElasticReader struct {
	Found []Elastic
	left  int
}

// elasticLines is how many lines the block has below its heading.
const elasticLines = 8

// See takes the next line.
func (r *ElasticReader) See(line int, text string) {
	if r.left == 0 {
		if text != "" && strings.IndexByte(": \t", text[len(text)-1]) >= 0 && strings.HasSuffix(strings.TrimRight(text, " \t"), elasticHeading+":") {
			r.Found = append(r.Found, Elastic{Rank: -1, Line: line})
			r.left = elasticLines
		}
		return
	}
	if r.left--; !strings.Contains(text, " : ") {
		return
	}
	e := &r.Found[len(r.Found)-1]
	if m := elasticTime.FindStringSubmatch(text); m != nil {
		if t, err := time.Parse("2006-01-02_15:04:05", m[1]); err == nil {
			e.At = t
		}
	}
	if m := elasticRank.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			e.Rank = n
		}
	}
	if m := elasticExit.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			e.ExitCode = n
		}
	}
}
