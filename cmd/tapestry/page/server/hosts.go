package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// HostList holds the host names by which browsers may ask for the page. It refuses a page from
// elsewhere whose own name was made to point here (DNS rebinding).
type HostList struct {
	names []string // with ports
	port  string
	any   bool // any address, but no name
}

// Hosts returns the host names of a listener's address, with its port: the address itself,
// localhost, 127.0.0.1 and [::1]. For a listener at every address of the machine, it allows any
// numeric address.
func Hosts(a net.Addr) HostList {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return HostList{}
	}
	_, port, _ := net.SplitHostPort(a.String())
	h := HostList{port: port, any: at.Addr().IsUnspecified()}
	own := at.Addr().WithZone("").String() // no browser names the interface of a link-local address
	if at.Addr().Is6() {
		own = "[" + own + "]"
	}
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]", own} {
		h.names = append(h.names, name+":"+port)
		if port == "80" {
			h.names = append(h.names, name)
		}
	}
	return h
}

// has reports whether a Host header names the page.
func (h HostList) has(host string) bool {
	if slices.Contains(h.names, strings.ToLower(host)) {
		return true
	}
	at, err := netip.ParseAddrPort(host)
	return h.any && err == nil && at.Addr().Zone() == "" && strings.HasSuffix(host, ":"+h.port)
}

// policy lets the page load its own scripts, styles and pictures, and forbids framing it. Inline
// styles are allowed because drawings contain theirs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// secure sets the security headers of every answer.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// refuse returns why a request is refused, with a status, unless it comes from the page.
func (s *Server) refuse(r *http.Request) (status int, why string) {
	if !s.hosts.has(r.Host) {
		return http.StatusMisdirectedRequest, fmt.Sprintf("this page is not called %q", r.Host)
	}
	origin := r.Header.Get("Origin")
	if origin != "" && !strings.EqualFold(origin, "http://"+r.Host) {
		return http.StatusForbidden, "requests from other sites are refused"
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin" || site == "none":
	case r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate": // a link to the page
	default:
		return http.StatusForbidden, "requests from other sites are refused"
	}
	return 0, ""
}
