// Command release makes what is given to others: container images without a container engine, archives with
// the program, their checksums and what each is made of. Two builds of one commit give the same bytes.
//
//	release images -version 0.1.0 -out ../../../dist/images
//	release images -version 0.1.0 -push registry.example/signalbox:0.1.0
//	release archives -version 0.1.0 -out ../../../dist/archives
//
// Start reading at images and archives.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

const usage = "expected: release images|archives [-version V] [-platforms LIST] [-out DIR] [-push NAME]"

// platforms are what is built for where nobody says: a cluster's nodes, and people's machines.
var platforms = map[string]string{
	"images":   "linux/amd64,linux/arm64",
	"archives": "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64",
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || platforms[args[0]] == "" {
		return errors.New(usage)
	}
	what := args[0]
	flags := flag.NewFlagSet(what, flag.ContinueOnError)
	root := flags.String("source", filepath.Join("..", "..", ".."), "`folder` with the sources")
	version := flags.String("version", "dev", "version of the program")
	list := flags.String("platforms", platforms[what], "what to build for")
	out := flags.String("out", "", "`folder` to write into: what is in it goes")
	push := flags.String("push", "", "`name` of an image in a registry, with a tag; credentials are those of docker login")
	insecure := flags.Bool("insecure", false, "the registry speaks HTTP")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *out == "" && *push == "" || what == "archives" && *push != "" || flags.NArg() > 0 {
		return errors.New(usage)
	}
	r := release{root: *root, program: "./cmd/signalbox", version: strings.TrimPrefix(*version, "v"), platforms: strings.Split(*list, ",")}
	if err := r.provenance(ctx); err != nil {
		return err
	}
	if what == "archives" {
		return r.archives(ctx, *out)
	}
	made, err := r.images(ctx)
	if err != nil {
		return err
	}
	digest, err := made.index.Digest()
	if err != nil {
		return err
	}
	if *out != "" {
		if err := save(*out, made); err != nil {
			return err
		}
	}
	if *push == "" {
		fmt.Println(digest)
		return nil
	}
	var options []name.Option
	if *insecure {
		options = append(options, name.Insecure)
	}
	to, err := name.ParseReference(*push, options...)
	if err != nil {
		return fmt.Errorf("read -push: %w", err)
	}
	if err := made.push(to, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", to, err)
	}
	fmt.Printf("%s@%s\n", to.Context().Name(), digest)
	return nil
}

// provenance reads from git what the sources are: their commit, and its time, which all files of the images
// have. SOURCE_DATE_EPOCH comes before it (https://reproducible-builds.org/specs/source-date-epoch/).
func (r *release) provenance(ctx context.Context) error {
	said := func(args ...string) (string, error) {
		text, err := exec.CommandContext(ctx, "git", append([]string{"-C", r.root}, args...)...).Output()
		return strings.TrimSpace(string(text)), err
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if commit, err := said("rev-parse", "HEAD"); err == nil {
		if changed, err := said("status", "--porcelain", "--untracked-files=no"); err == nil && changed == "" {
			r.revision = commit
		}
		if seconds == "" {
			if seconds, err = said("log", "-1", "--format=%ct"); err != nil {
				return fmt.Errorf("read the time of the commit: %w", err)
			}
		}
	}
	if seconds == "" {
		return errors.New("the time of the sources is not known: expected a git repository, or SOURCE_DATE_EPOCH")
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("read SOURCE_DATE_EPOCH: %w", err)
	}
	r.at = time.Unix(n, 0).UTC()
	return nil
}

// save writes an OCI layout, which skopeo, crane and containerd read, and the SBOMs beside it.
func save(dir string, made images) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := layout.Write(filepath.Join(dir, "oci"), made.index); err != nil {
		return fmt.Errorf("write the OCI layout: %w", err)
	}
	for _, i := range made.all {
		file := "signalbox-" + strings.ReplaceAll(i.platform.String(), "/", "-") + ".spdx.json"
		if err := os.WriteFile(filepath.Join(dir, file), i.sbom, 0o644); err != nil {
			return err
		}
	}
	return nil
}
