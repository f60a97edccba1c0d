package parallel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// address is one at which ranks meet: tcp://HOST:PORT or unix:///PATH.
type address struct {
	network    string // tcp or unix
	host, port string
	path       string
}

// maxPath is how long the path of a Unix socket may be where it may be shortest, on macOS.
const maxPath = 103

func parseAddress(text string) (address, error) {
	wrong := func(format string, args ...any) (address, error) {
		return address{}, fmt.Errorf("parallel: address %q: %s: want tcp://HOST:PORT or unix:///PATH", text, fmt.Sprintf(format, args...))
	}
	if rest, ok := strings.CutPrefix(text, "tcp://"); ok {
		host, port, err := net.SplitHostPort(rest)
		if err != nil {
			return wrong("%s", strings.TrimPrefix(err.Error(), "address "+rest+": "))
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return wrong("port %q is not one of 1 to 65535", port)
		}
		if host == "" {
			return wrong("there is no host, which the other ranks must know")
		}
		return address{network: "tcp", host: host, port: port}, nil
	}
	if path, ok := strings.CutPrefix(text, "unix://"); ok {
		longest := path + "." + strconv.Itoa(MaxLanes-1)
		switch {
		case !strings.HasPrefix(path, "/"):
			return wrong("the path does not begin with /")
		case strings.HasSuffix(path, "/"):
			return wrong("the path names a folder")
		case len(longest) > maxPath:
			return address{}, fmt.Errorf("parallel: address %q: the path has %d bytes, and a Unix socket's may have %d with the number of a rank: "+
				"choose a shorter one, such as /tmp/job", text, len(path), maxPath-len(longest)+len(path))
		}
		return address{network: "unix", path: path}, nil
	}
	return wrong("it begins with neither")
}

func (a address) String() string {
	if a.network == "unix" {
		return "unix://" + a.path
	}
	return "tcp://" + net.JoinHostPort(a.host, a.port)
}

// resolve returns what package net dials or listens at. Without a key only the loopback will do.
func (a address) resolve(ctx context.Context, keyed bool) ([]string, error) {
	if a.network == "unix" {
		return []string{a.path}, nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", a.host)
	if err != nil {
		return nil, fmt.Errorf("parallel: %v: %w", a, err)
	}
	var all []string
	for _, ip := range ips {
		ip = ip.Unmap()
		if !keyed && !ip.IsLoopback() {
			return nil, fmt.Errorf("parallel: %w", beyond(fmt.Sprintf("%v (%v)", a, ip)))
		}
		all = append(all, net.JoinHostPort(ip.String(), a.port))
	}
	return all, nil
}

// beyond refuses what is not on this machine.
func beyond(what string) error {
	return refuse("%s is beyond the loopback, where ranks need a key in common: write one with "+
		"openssl rand -hex 32 > FILE and give it to all ranks", what)
}

// onLoopback reports whether a connection stays on this machine.
func onLoopback(c net.Conn) bool {
	loopback := func(a net.Addr) bool {
		switch a := a.(type) {
		case *net.UnixAddr:
			return true
		case *net.TCPAddr:
			return a.IP.IsLoopback()
		}
		return false
	}
	return loopback(c.LocalAddr()) && loopback(c.RemoteAddr())
}

// localText does the same for an address as package net writes it.
func localText(network, text string) bool {
	if network == "unix" {
		return true
	}
	a, err := netip.ParseAddrPort(text)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// listen listens at an address that resolve returned.
func listen(ctx context.Context, network, at string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, network, at)
	if network == "unix" && errors.Is(err, syscall.EADDRINUSE) && stale(at) {
		os.Remove(at)
		l, err = config.Listen(ctx, network, at)
	}
	what := network + "://" + at
	switch {
	case err == nil:
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("parallel: %s is in use, maybe by a job that still runs: end it, or choose another %s",
			what, map[string]string{"tcp": "port", "unix": "path"}[network])
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("parallel: %s is not an address of this machine: give that of the machine of rank 0", what)
	case errors.Is(err, fs.ErrPermission) && network == "tcp":
		return nil, fmt.Errorf("parallel: %s: no permission to listen there: choose a port of 1024 or above", what)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("parallel: %s: no permission to write there: choose a path in a folder of your own", what)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("parallel: %s: its folder does not exist: make it, or choose another path", what)
	default:
		return nil, fmt.Errorf("parallel: %s: %w", what, err)
	}
	if network == "unix" {
		if err := os.Chmod(at, 0o600); err != nil {
			l.Close()
			return nil, fmt.Errorf("parallel: %s: %w", what, err)
		}
	}
	return l, nil
}

// stale reports whether a path is a socket at which nobody listens: what a process that was killed
// leaves behind.
func stale(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return false
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
