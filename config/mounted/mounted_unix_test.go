//go:build unix

package mounted

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file of gigabytes, a folder or a pipe where a key should be is an error at once.
func TestWhatIsMountedIsAFile(t *testing.T) {
	dir := t.TempDir()
	of := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int64{"empty": 0, "key": 64, "as large as a Secret": 1 << 20, "a byte more": 1<<20 + 1, "gigabytes": 64 << 30} {
		f, err := os.Create(of(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil { // sparse
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(of("a folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(of("a pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("key", of("a link, as kubelet makes them")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"empty": "", "key": "", "a link, as kubelet makes them": "", "as large as a Secret": "",
		"a byte more": "it has more than 1024 KiB", "gigabytes": "it has more than 1024 KiB", "a folder": "it is no regular file", "a pipe": "it is no regular file", "nothing": "no such file",
	} {
		_, err := Read(of(name))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
	if _, err := Read("/dev/zero"); err == nil {
		t.Error("a device without end is read")
	}
}
