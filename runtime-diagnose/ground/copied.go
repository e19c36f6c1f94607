package ground

import (
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// mostCopied is how many words in a row, quoted or not, are too many of a line that is not the cause's own: more is somebody
// else's speech, and may stand in the line of a consequence as well. An explanation has words of its own.
const mostCopied = 6

// mostQuoted is how many words a quotation may have of the beginning of a line of a consequence: what the rules read stands
// there, and what somebody added stands behind it.
const mostQuoted = 10

// mostCode is how many words that stand apart in a line may be put together as code.
const mostCode = 4

// copied says whether a claim repeats, as if it said so itself, a line of a log or an event that no rule rests on.
func (g *grounds) copied(body string, cites []evidence.ID) bool {
	said := wordsAlone(quotation.ReplaceAllString(body, " | "))
	for _, id := range cites {
		if slices.Contains(g.Root, id) {
			continue
		}
		line := " " + strings.Join(wordsAlone(g.items[id].Text), " ") + " "
		for i := 0; i+mostCopied <= len(said); i++ {
			if strings.Contains(line, " "+strings.Join(said[i:i+mostCopied], " ")+" ") {
				return true
			}
		}
		if hanRun(body, g.items[id].Text, g.Says, repeatedWords) {
			return true
		}
	}
	return false
}

// wordsAlone are the words of a text without its numbers: that two have these in common makes neither a copy of the other.
func wordsAlone(text string) []string {
	return slices.DeleteFunc(strings.Fields(text), func(w string) bool { return w != "|" && !strings.ContainsFunc(w, unicode.IsLetter) })
}

// fewestCopied is how many words a claim has at least that is a copy as a whole.
const fewestCopied = 3

// repeatedWords is how many words of Chinese in a row, of two characters each, of a line that was read make a claim a copy of it.
const repeatedWords = 5

// repeats says whether a claim has a run of words of what was read, and of what the rules do not say themselves: what a log
// says is not what a model says.
func (g *grounds) repeats(body string) bool {
	words, says := strings.Fields(spoken(body)), " "+spoken(g.Says)+" "
	for _, id := range g.Root {
		says += "| " + spoken(g.items[id].Text) + " "
	}
	most := min(mostCopied, max(fewestCopied, len(wordsAlone(body)))) // or the whole claim
	for at := range words {
		end, of := at, 0
		for ; end < len(words) && of < most; end++ {
			if strings.ContainsFunc(words[end], unicode.IsLetter) {
				of++
			}
		}
		if run := " " + strings.Join(words[at:end], " ") + " "; of == most && strings.Contains(g.read, run) && !strings.Contains(says, run) {
			return true
		}
	}
	return hanRun(body, g.read, says, repeatedWords)
}

// hanRun says whether a text has twice as many characters of Chinese in a row as a text of so many words has words that stand
// in a line which was read, and not in what the rules say.
func hanRun(body, read, says string, words int) bool {
	run := []rune{}
	for _, r := range body {
		if !unicode.Is(unicode.Han, r) {
			run = run[:0]
			continue
		}
		if run = append(run, r); len(run) >= 2*words {
			if text := string(run[len(run)-2*words:]); strings.Contains(read, text) && !strings.Contains(says, text) {
				return true
			}
		}
	}
	return false
}

// spoken is a text as words alone.
func spoken(text string) string {
	words := strings.Fields(strings.ToLower(text))
	for i, w := range words {
		words[i] = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
