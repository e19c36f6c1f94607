package policies

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/open-policy-agent/opa/v1/bundle"
)

// BundleFolder is where the files of a bundle lie, so that errors say that they are of one: no ConfigMap is called so.
const BundleFolder = "@bundle"

// mostBundle bounds what a bundle may unpack to.
const mostBundle = 32 << 20

// ReadBundle reads a bundle as opa build writes it (a compressed tar), and its signature with OPA's own
// code. key is a public key (PEM) that has to have signed it with the algorithm of its kind (RS256,
// ES256, ES384, ES512, EdDSA); none: a signature is not looked at. The files are named @bundle/….
func ReadBundle(archive, key []byte) (fs.FS, error) {
	if err := unpacks(archive); err != nil {
		return nil, err
	}
	reader := bundle.NewCustomReader(bundle.NewTarballLoaderWithBaseURL(bytes.NewReader(archive), "")).
		WithSizeLimitBytes(mostBundle).WithCapabilities(capabilities())
	if len(key) == 0 {
		reader = reader.WithSkipBundleVerification(true)
	} else {
		algorithm, err := algorithmOf(key)
		if err != nil {
			return nil, err
		}
		const id = "key"
		reader = reader.WithBundleVerificationConfig(bundle.NewVerificationConfig(
			map[string]*bundle.KeyConfig{id: {Key: string(key), Algorithm: algorithm}}, id, "", nil))
	}
	b, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	return filesOf(&b)
}

// unpacks holds an archive to its bound before anything is kept of it.
func unpacks(archive []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return fmt.Errorf("read bundle: %w", err)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(z, mostBundle+1))
	switch {
	case err != nil:
		return fmt.Errorf("read bundle: %w", err)
	case n > mostBundle:
		return fmt.Errorf("read bundle: it unpacks to more than %d MiB", mostBundle>>20)
	}
	return nil
}

// algorithmOf is what signatures of a key are made with (RFC 7518, 3.1).
func algorithmOf(key []byte) (string, error) {
	block, _ := pem.Decode(key)
	if block == nil {
		return "", errors.New("read the key of bundles: it is no PEM")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("read the key of bundles: %w", err)
	}
	switch k := public.(type) {
	case *rsa.PublicKey:
		return "RS256", nil
	case ed25519.PublicKey:
		return "EdDSA", nil
	case *ecdsa.PublicKey:
		if name := map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[k.Params().BitSize]; name != "" {
			return name, nil
		}
	}
	return "", fmt.Errorf("read the key of bundles: a key of kind %T is not taken; want RSA, ECDSA or Ed25519", public)
}

// filesOf is what of a bundle makes a set: its modules, and its data as one document. What would be
// ignored otherwise is refused.
func filesOf(b *bundle.Bundle) (fs.FS, error) {
	switch {
	case b.Type() == bundle.DeltaBundleType:
		return nil, errors.New("read bundle: it is a delta; want a whole bundle")
	case len(b.WasmModules) > 0 || len(b.PlanModules) > 0:
		return nil, errors.New("read bundle: it holds compiled policies; want Rego (opa build without -t)")
	}
	out := fstest.MapFS{}
	for _, m := range b.Modules {
		name := strings.TrimPrefix(path.Clean("/"+m.Path), "/")
		if slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return strings.HasPrefix(dir, "..") }) {
			return nil, fmt.Errorf("read bundle: %s lies in a folder that is not read; its name begins with two dots", name)
		}
		out[path.Join(BundleFolder, name)] = &fstest.MapFile{Data: m.Raw, Mode: 0o444}
	}
	delete(b.Data, "testdata") // what fixtures are tried with is no setting
	if len(b.Data) > 0 {
		text, err := json.Marshal(b.Data)
		if err != nil {
			return nil, fmt.Errorf("read bundle: %w", err)
		}
		out[path.Join(BundleFolder, "data.json")] = &fstest.MapFile{Data: text, Mode: 0o444}
	}
	if len(out) == 0 {
		return nil, errors.New("read bundle: it holds neither policies nor data")
	}
	return out, nil
}
