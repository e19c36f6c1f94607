// Package mounted reads the files that settings name: keys, tokens, addresses and certificates, as Secrets and ConfigMaps are
// mounted. What is no regular file is an error and not waited for, and what is larger than a Secret is none of them.
//
// Start reading at Read.
package mounted

import (
	"crypto/x509"
	"fmt"
	"io"
	"os"
)

// mostFile is how many bytes a file may have: a Secret has no more
// (https://kubernetes.io/docs/concepts/configuration/secret/#restriction-data-size).
const mostFile = 1 << 20

// Read is what a file holds at the time.
func Read(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // to open a pipe waits for whoever writes into it
		return nil, fmt.Errorf("read %s: it is no regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if err == nil && len(text) > mostFile {
		return nil, fmt.Errorf("read %s: it has more than %d KiB", name, mostFile>>10)
	}
	return text, err
}

// Certificates are those of a file in PEM.
func Certificates(name string) (*x509.CertPool, error) {
	text, err := Read(name)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate (PEM)", name)
	}
	return pool, nil
}
