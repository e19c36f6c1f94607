package explain

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// MostKept bounds what Save writes: a ConfigMap takes 1 MiB.
const MostKept = 700 << 10

// mostRead bounds what Load unpacks.
const mostRead = 16 << 20

// keptForm names the form of what is kept; another one is not read.
const keptForm = "signalbox.dev/model/v1"

// record is what outlives a restart: the day's account, and the answers.
type record struct {
	Form    string            `json:"form"`
	Day     string            `json:"day,omitempty"`
	All     Spent             `json:"all"`
	By      map[string]*Spent `json:"by,omitempty"`
	Answers []keptAnswer      `json:"answers"` // the one that was used last at the end
}

type keptAnswer struct {
	Key string `json:"key"`
	remembered
}

// Save is what was answered and spent, for Load, in at most MostKept bytes: answers that were not used for long
// are left out.
func (e Explainer) Save() ([]byte, error) {
	r := record{Form: keptForm}
	if b := e.Budget; b != nil {
		b.mu.Lock()
		r.Day, r.All, r.By = b.day, b.all, map[string]*Spent{}
		for name, s := range b.by {
			one := *s
			r.By[name] = &one
		}
		b.mu.Unlock()
	}
	if a := e.Answers; a != nil {
		a.mu.Lock()
		for _, key := range a.order {
			r.Answers = append(r.Answers, keptAnswer{key, a.known[key]})
		}
		a.mu.Unlock()
	}
	for {
		data, err := packed(r)
		if err != nil || len(data) <= MostKept {
			return data, err
		}
		if len(r.Answers) == 0 {
			return nil, fmt.Errorf("keep what the model answered: the accounts of %d namespaces take %d bytes; there is room for %d", len(r.By), len(data), MostKept)
		}
		r.Answers = r.Answers[(len(r.Answers)+3)/4:]
	}
}

func packed(r record) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if err := json.NewEncoder(z).Encode(r); err != nil {
		return nil, fmt.Errorf("keep what the model answered: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("keep what the model answered: %w", err)
	}
	return out.Bytes(), nil
}

// Load goes on from what Save wrote. What was spent on another day is not counted. An error says why nothing of
// it is used.
func (e Explainer) Load(data []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read what the model answered: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, mostRead+1))
	if err != nil {
		return fmt.Errorf("read what the model answered: %w", err)
	}
	var r record
	if len(text) > mostRead {
		return fmt.Errorf("read what the model answered: it has more than %d MiB", mostRead>>20)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("read what the model answered: %w", err)
	}
	if r.Form != keptForm {
		return fmt.Errorf("read what the model answered: its form is %q; expected %s", r.Form, keptForm)
	}
	if e.Answers != nil {
		for _, k := range r.Answers[max(0, len(r.Answers)-mostAnswers):] {
			e.Answers.put(k.Key, k.remembered)
		}
	}
	if b := e.Budget; b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.of("") // today
		if r.Day != b.day {
			return nil
		}
		b.all.add(r.All)
		for _, name := range slices.Sorted(maps.Keys(r.By)) {
			if s := r.By[name]; s != nil {
				b.of(name).add(*s)
			}
		}
	}
	return nil
}

func (s *Spent) add(o Spent) {
	s.Calls += max(0, o.Calls)
	s.Tokens += max(0, o.Tokens)
	s.Money += max(0, o.Money)
}
