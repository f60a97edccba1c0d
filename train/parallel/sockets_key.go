//go:build !js

package parallel

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// keyBytes is the least length of a key: anyone who can reach a rank may try to guess it at leisure.
const keyBytes = 32

// identity is what a rank shows others in TLS: a certificate whose key pair (Ed25519) is derived
// from the shared key (HKDF with SHA-256), so that whoever has it has the same. Each side accepts
// this public key alone, and TLS makes each prove that it has the private one.
type identity struct {
	config *tls.Config
}

const errKey = refused("it has another key")

func identify(key []byte) (*identity, error) {
	if len(key) < keyBytes {
		return nil, fmt.Errorf("parallel: a key of %d bytes can be guessed: want %d or more, such as the output of: openssl rand -hex 32",
			len(key), keyBytes)
	}
	seed, err := hkdf.Key(sha256.New, key, nil, "tapestry train/parallel ed25519", ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("parallel: key: %w", err)
	}
	private := ed25519.NewKeyFromSeed(seed)
	public := private.Public().(ed25519.PublicKey)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280: no end
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, fmt.Errorf("parallel: key: %w", err)
	}
	return &identity{&tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // there is no authority: VerifyConnection compares the key itself
		SessionTicketsDisabled: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) > 0 {
				if theirs, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey); ok && theirs.Equal(public) {
					return nil
				}
			}
			return errKey
		},
	}}, nil
}

// secure puts TLS on a connection whose two sides have said that they have a key.
func (i *identity) secure(ctx context.Context, c *conn, server bool) error {
	var t *tls.Conn
	if server {
		t = tls.Server(timed{c.raw, c}, i.config)
	} else {
		t = tls.Client(timed{c.raw, c}, i.config)
	}
	if err := t.HandshakeContext(ctx); err != nil {
		if alert := (*net.OpError)(nil); errors.As(err, &alert) && alert.Op == "remote error" {
			return errKey
		}
		return err
	}
	c.streams(t)
	return nil
}
