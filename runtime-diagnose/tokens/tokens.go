// Package tokens counts a text as language models do: by byte pairs, with the vocabulary cl100k_base, which is
// in the program and fetched from nowhere. Models with other vocabularies count otherwise; newer ones of the same
// makers count fewer tokens, above all beyond English.
package tokens

import (
	"fmt"
	"sync"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// Vocabulary is the one that is counted by.
const Vocabulary = "cl100k_base"

// vocabulary is read when something is counted for the first time: it takes some tens of megabytes.
var vocabulary = sync.OnceValues(func() (*tiktoken.Tiktoken, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	t, err := tiktoken.GetEncoding(Vocabulary)
	if err != nil {
		return nil, fmt.Errorf("read vocabulary %s: %w", Vocabulary, err)
	}
	return t, nil
})

// Count is how many tokens a text has. Without a vocabulary, which a test reads, it is the most that there can be:
// one for each byte.
func Count(text string) int {
	t, err := vocabulary()
	if err != nil {
		return len(text)
	}
	return len(t.EncodeOrdinary(text))
}
