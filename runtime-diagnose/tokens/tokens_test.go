package tokens

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// The counts are those that the makers of the vocabulary print of cl100k_base
// (https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken, "Comparing encodings").
func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "tiktoken is great!": 6, "antidisestablishmentarianism": 6, "2 + 2 = 4": 7, "お誕生日おめでとう": 9,
	} {
		if got := Count(text); got != want {
			t.Errorf("%q has %d tokens, want %d", text, got, want)
		}
	}
}

// The vocabulary is the one that tiktoken fetches: the digest is the one it holds that file to
// (https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py, cl100k_base).
func TestTheVocabularyIsTheMakers(t *testing.T) {
	data, err := assets.Assets.ReadFile(Vocabulary + ".tiktoken")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7" {
		t.Errorf("the vocabulary's digest is %s", got)
	}
}

func BenchmarkCount(b *testing.B) {
	const line = "| [pod/train-worker-3/pytorch#18231] 2026-03-04T10:42:10Z [rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Count(line)
	}
}
