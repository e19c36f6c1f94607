// Package oci fetches policies from a registry: a bundle in OPA's form, by digest or by tag, as
// `opa build` and `oras push` leave it. It decides nothing: what a bundle holds and who has signed it,
// package policies reads; docs/adr/0020 says why OPA's own downloader is not used.
//
// Start reading at Follower.Start.
package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/signalbox-dev/signalbox/config/client"
)

// Place says where a bundle is, and how to reach it.
type Place struct {
	Reference   string // registry.example.com/team/policies:v3, or …@sha256:…
	Credentials string // file of registry credentials, as docker login writes it; empty: none
	CA          string // file of certificates (PEM) that sign the registry's; empty: the system's
	PlainHTTP   bool   // without TLS
}

// The bounds of what is fetched.
const (
	mostManifest = 1 << 20
	mostLayer    = 16 << 20
	// mostRedirects are as many as Go's own client follows.
	mostRedirects = 10
	fetchTime     = 30 * time.Second
)

// layerTypes are those of a layer that is a compressed tar: `oras push` names the first unless it is
// told otherwise, and OPA's documents the others.
var layerTypes = []string{
	ocispec.MediaTypeImageLayerGzip, "application/vnd.docker.image.rootfs.diff.tar.gzip",
	"application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
}

// Fetched is a bundle as the registry has it.
type Fetched struct {
	Digest  string // of the manifest
	Archive []byte
}

// ByDigest says that a reference names one bundle for ever.
func ByDigest(reference string) bool {
	r, err := registry.ParseReference(reference)
	return err == nil && r.ValidateReferenceAsDigest() == nil
}

// Check says what is wrong with a reference.
func Check(reference string) error {
	r, err := registry.ParseReference(reference)
	if err != nil {
		return fmt.Errorf("%q names no bundle; write registry.example.com/team/policies:v3, or …@sha256:…: %w", reference, err)
	}
	if r.Reference == "" {
		return fmt.Errorf("%q has neither tag nor digest", reference)
	}
	return nil
}

// Fetch reads the bundle, unless its manifest is the one that is had already: then it is the zero value.
func Fetch(ctx context.Context, p Place, have string) (Fetched, error) {
	ctx, stop := context.WithTimeout(ctx, fetchTime)
	defer stop()
	repository, err := p.open()
	if err != nil {
		return Fetched{}, err
	}
	manifest, err := repository.Resolve(ctx, repository.Reference.Reference)
	if err != nil {
		return Fetched{}, fmt.Errorf("look up %s: %w", p.Reference, err)
	}
	if manifest.Digest.String() == have {
		return Fetched{}, nil
	}
	layer, err := layerOf(ctx, repository, manifest)
	if err != nil {
		return Fetched{}, fmt.Errorf("read the manifest of %s: %w", p.Reference, err)
	}
	archive, err := content.FetchAll(ctx, repository, layer) // to the byte of size and digest
	if err != nil {
		return Fetched{}, fmt.Errorf("fetch %s: %w", p.Reference, err)
	}
	return Fetched{manifest.Digest.String(), archive}, nil
}

// layerOf is the one layer of a manifest that holds a bundle.
func layerOf(ctx context.Context, from content.Fetcher, manifest ocispec.Descriptor) (ocispec.Descriptor, error) {
	if manifest.Size > mostManifest {
		return ocispec.Descriptor{}, fmt.Errorf("it has %d bytes; at most %d are read", manifest.Size, mostManifest)
	}
	text, err := content.FetchAll(ctx, from, manifest)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return ocispec.Descriptor{}, err
	}
	var found []ocispec.Descriptor
	for _, l := range m.Layers {
		if slices.Contains(layerTypes, l.MediaType) {
			found = append(found, l)
		}
	}
	switch {
	case len(found) != 1:
		return ocispec.Descriptor{}, fmt.Errorf("it has %d layers that are a compressed tar (%s); want one", len(found), strings.Join(layerTypes, ", "))
	case found[0].Size > mostLayer:
		return ocispec.Descriptor{}, fmt.Errorf("its layer has %d bytes; at most %d are read", found[0].Size, mostLayer)
	case found[0].Digest.Algorithm() != digest.SHA256 && found[0].Digest.Algorithm() != digest.SHA512:
		return ocispec.Descriptor{}, fmt.Errorf("its layer has a digest of kind %s", found[0].Digest.Algorithm())
	}
	return found[0], nil
}

func (p Place) open() (*remote.Repository, error) {
	if err := Check(p.Reference); err != nil {
		return nil, err
	}
	repository, err := remote.NewRepository(p.Reference)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", p.Reference, err)
	}
	repository.PlainHTTP = p.PlainHTTP
	transport, err := client.Transport(p.CA)
	if err != nil {
		return nil, fmt.Errorf("read the certificates of the registry: %w", err)
	}
	transport.DisableKeepAlives = true // each look makes a transport of its own
	caller := &auth.Client{Client: &http.Client{Transport: transport, CheckRedirect: redirected}}
	caller.SetUserAgent("signalbox")
	if p.Credentials != "" {
		if _, err := os.Stat(p.Credentials); err != nil {
			return nil, fmt.Errorf("read the credentials of the registry: %w", err)
		}
		store, err := credentials.NewFileStore(p.Credentials)
		if err != nil {
			return nil, errors.New("read the credentials of the registry: " + p.Credentials + " has not the form that docker login writes")
		}
		caller.Credential = credentials.Credential(store)
	}
	repository.Client = caller
	return repository, nil
}

// redirected lets a registry send to where it keeps its layers: not in the clear, not with a password in a body, and not to
// an address of the node or of the cluster.
func redirected(to *http.Request, via []*http.Request) error {
	first, ip := via[0], net.ParseIP(to.URL.Hostname())
	switch {
	case len(via) >= mostRedirects:
		return fmt.Errorf("the registry has sent on %d times", len(via))
	case first.Method != http.MethodGet && first.Method != http.MethodHead:
		return errors.New("the registry sends on what holds credentials")
	case first.URL.Scheme == "https" && to.URL.Scheme != "https":
		return errors.New("the registry sends from https to " + to.URL.Scheme)
	case ip != nil && to.URL.Hostname() != first.URL.Hostname() && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()):
		return errors.New("the registry sends to " + ip.String() + ", which is an address of the node or of the cluster")
	}
	return nil
}
