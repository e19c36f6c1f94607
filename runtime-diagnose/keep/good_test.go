package keep

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func goodRun(uid string, hour int, lines ...string) Good {
	g := Good{UID: uid, At: began.Add(time.Duration(hour) * time.Hour), Pods: 4, Whole: true}
	for _, line := range lines {
		g.Lines.Add(line)
	}
	return g
}

func TestAGoodRunComesBack(t *testing.T) {
	got, err := DecodeGood(EncodeGood(goodRun("u-1", 3, "the worker is ready", "step 1")))
	if err != nil {
		t.Fatal(err)
	}
	if got.UID != "u-1" || !got.At.Equal(began.Add(3*time.Hour)) || got.Pods != 4 || !got.Whole || got.Lines.New("the worker is ready") || !got.Lines.New("the worker is lost") {
		t.Errorf("it comes back as %+v", got)
	}
	for name, data := range map[string]string{"nothing": "", "text": "hello", "another version": `{"v":2}`, "half a form": `{"v":1,"at":"2026-11-20T08:00:00Z"}` + "\nabc"} {
		if _, err := DecodeGood([]byte(data)); !errors.Is(err, ErrForm) {
			t.Errorf("%s is read: %v", name, err)
		}
	}
}

// The objects of a namespace stay small however many jobs succeed in it, and what is there of the
// others stays.
func TestOldGoodRunsGo(t *testing.T) {
	objects := map[string]map[string][]byte{}
	for i := range 2000 {
		object, key := GoodKey("PyTorchJob", fmt.Sprintf("train-%d", i), "")
		objects[object] = WithGood(objects[object], key, goodRun(fmt.Sprint(i), i, "a line of its own"))
	}
	if len(objects) != goodObjects {
		t.Errorf("%d objects, want %d", len(objects), goodObjects)
	}
	object, key := GoodKey("PyTorchJob", "train-1999", "")
	if _, err := DecodeGood(objects[object][key]); err != nil || len(objects[object]) != goodJobs {
		t.Errorf("the last one: %v; %d in its object, want %d", err, len(objects[object]), goodJobs)
	}
	for name, data := range objects {
		if !strings.HasPrefix(name, Prefix) || len(data) > goodJobs {
			t.Errorf("%s holds %d", name, len(data))
		}
	}
	before := slices.Sorted(maps.Keys(objects[object]))
	objects[object] = WithGood(objects[object], key, goodRun("again", 9000, "another line"))
	if after := slices.Sorted(maps.Keys(objects[object])); !slices.Equal(before, after) {
		t.Errorf("a job that succeeds again takes the place of another: %v, then %v", before, after)
	}
}

func TestAJobOfAGeneratedNameIsTheSame(t *testing.T) {
	a, keyA := GoodKey("Job", "train-x7k2p", "train-")
	b, keyB := GoodKey("Job", "train-m9q4z", "train-")
	c, keyC := GoodKey("PyTorchJob", "train-x7k2p", "train-")
	if a != b || keyA != keyB || a == c && keyA == keyC {
		t.Errorf("keys are %s %s, %s %s, %s %s", a, keyA, b, keyB, c, keyC)
	}
	if _, key := GoodKey("Job", strings.Repeat("n", 253), ""); !plainKey.MatchString(key) || len(key) > 200 {
		t.Errorf("a long name has the key %q", key)
	}
}

func FuzzDecodeGood(f *testing.F) {
	f.Add(EncodeGood(goodRun("u", 1, "a line")))
	f.Add([]byte(`{"v":1,"at":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := DecodeGood(data); err == nil {
			if _, err := DecodeGood(EncodeGood(g)); err != nil {
				t.Errorf("it does not come back: %v", err)
			}
		}
	})
}
