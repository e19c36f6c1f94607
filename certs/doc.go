// Package certs keeps the webhook's certificate: from files that cert-manager (or
// anybody else) keeps current, or issued by Signalbox itself where there is no
// cert-manager. issuer.yaml and certificate.yaml beside it are the objects for cert-manager.
//
// The built-in Authority is no certificate authority for anything else: one CA, one
// serving certificate, in one Secret that all replicas share. It rotates both before
// they expire, and a new CA is trusted before anything signed by it is served, so that
// no call fails on the way.
//
// Start reading at Source; the rules of rotation are in next.go.
package certs
