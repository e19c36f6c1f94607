// Package integration runs the edges of Signalbox against a real API server: the webhook
// with its certificates and policies under the account and the rights of the installed
// manifests. The specs carry the build tag integration and need `make controlplane`.
package integration
