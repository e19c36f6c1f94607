//go:build unix

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func sourceOf(file string) evidence.Source { return evidence.Source{File: file, Rank: -1} }

// gate is what passed it.
type gate struct{ lines, passed int }

func pass(c *signature.Catalog, text string) (gate, error) {
	var g gate
	err := eachLine(text, func(line []byte) {
		g.lines++
		if c.Suspects(unsafe.String(unsafe.SliceData(line), len(line))) {
			g.passed++
		}
	})
	return g, err
}

// explain counts lines that pass and that no pattern matches, and the signatures for which
// most of them passed.
func (g gate) explain(c *signature.Catalog, text string) (falsely int, worst []string, err error) {
	blamed := map[string]int{}
	literals := map[string][]string{}
	for _, s := range c.All() {
		literals[s.ID] = s.Literals()
	}
	byLine := map[string]bool{} // lines repeat: a verdict is remembered
	err = eachLine(text, func(line []byte) {
		if !c.Suspects(string(line)) {
			return
		}
		matches, known := byLine[string(line)]
		if !known {
			matches = len(c.Match(string(line))) > 0
			if len(byLine) < 1<<18 {
				byLine[string(line)] = matches
			}
		}
		if matches {
			return
		}
		falsely++
		if falsely%16 == 0 {
			lower := strings.ToLower(string(line))
			for _, s := range c.All() {
				for _, l := range literals[s.ID] {
					if strings.Contains(string(line), l) || l == strings.ToLower(l) && strings.Contains(lower, l) {
						blamed[s.ID+" by "+fmt.Sprintf("%q", l)] += 16
					}
				}
			}
		}
	})
	ids := slices.SortedFunc(maps.Keys(blamed), func(a, b string) int {
		return cmp.Or(-cmp.Compare(blamed[a], blamed[b]), strings.Compare(a, b))
	})
	for _, id := range ids[:min(len(ids), 12)] {
		worst = append(worst, fmt.Sprintf("about %d for %s", blamed[id], id))
	}
	return falsely, worst, err
}
