// Command page writes docs/benchmarks.md from what benchstat makes of a run: it reads the
// output of benchstat -format csv on standard input and writes Markdown. The numbers are
// those of the file; the words are those of this program. A section for which the run has
// no numbers is kept as it is on the page before, which is the argument.
package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	run, err := read(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	before := ""
	if len(os.Args) > 1 {
		text, err := os.ReadFile(os.Args[1])
		if err != nil {
			log.Fatal(err)
		}
		before = string(text)
	}
	out := bufio.NewWriter(os.Stdout)
	write(out, run, before)
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

// run is the medians of a run, by unit, then name.
type run struct {
	machine []string          // goos, goarch
	when    map[string]string // by name: "on 2026-01-02, on a processor, at a load average of 0.5, 0.4, 0.3"
	median  map[string]map[string]float64
	names   []string // in the order of the file
}

// read reads the sections of the CSV: lines about the machine, a line with the files'
// names, a line with the unit, then a line for each benchmark.
func read(in io.Reader) (*run, error) {
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	out := &run{median: map[string]map[string]float64{}, when: map[string]string{}}
	unit, seen, said := "", map[string]bool{}, map[string]string{}
	for {
		line, err := r.Read()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read benchstat's CSV: %w", err)
		}
		switch {
		case len(line) == 1:
			key, value, _ := strings.Cut(line[0], ": ")
			said[key] = value
			if slices.Contains([]string{"goos", "goarch"}, key) && !slices.Contains(out.machine, line[0]) {
				out.machine = append(out.machine, line[0])
			}
		case line[0] == "" && len(line) > 2 && line[2] == "CI":
			unit = line[1]
			if out.median[unit] == nil {
				out.median[unit] = map[string]float64{}
			}
		case line[0] == "" || line[0] == "geomean" || line[1] == "":
		default:
			n, err := strconv.ParseFloat(line[1], 64)
			if err != nil {
				return nil, fmt.Errorf("read benchstat's CSV: %s: %w", line[0], err)
			}
			name := trimProcs(line[0])
			out.median[unit][name] = n
			if said["date"] != "" {
				out.when[name] = "on " + said["date"] + ", on " + said["cpu"] + ", at a load average of " + said["load-average"]
				if said["commit"] != "" {
					out.when[name] += ", commit " + said["commit"]
				}
			}
			if !seen[name] {
				seen[name] = true
				out.names = append(out.names, name)
			}
		}
	}
}

// trimProcs drops the number of processors that go test hangs on a name.
func trimProcs(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i]
		}
	}
	return name
}

// of is the median of a benchmark in a unit; ok is false where it was not run.
func (r *run) of(unit, name string) (n float64, ok bool) {
	n, ok = r.median[unit][name]
	return n, ok
}
