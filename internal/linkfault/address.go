package linkfault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// FreeAddress returns a TCP address of the loopback at which nobody listens. Its port is below those
// that systems give to connections, so that none of another test takes it before it is used.
func FreeAddress() (string, error) {
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(15000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String(), nil
		}
	}
	return "", errors.New("no port is free")
}
