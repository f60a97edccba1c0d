package linkfault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// given has the ports that this process was given.
var given sync.Map

// FreeAddress returns a TCP address of the loopback at which nobody listens. Its port is below those
// that systems give to connections, so that none of another test takes it before it is used, and it
// is given to a process once: tests that run side by side do not meet there.
func FreeAddress() (string, error) {
	for range 1000 {
		port := 15000 + rand.IntN(15000)
		if _, again := given.LoadOrStore(port, true); again {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			defer l.Close()
			return l.Addr().String(), nil
		}
	}
	return "", errors.New("no port is free")
}
