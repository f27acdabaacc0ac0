package xmlrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
)

// Method answers a call. An error becomes a fault.
type Method func(ctx context.Context, args []any) (any, error)

// Handler answers calls over HTTP, at any path. It knows system.multicall and
// system.listMethods besides its methods.
type Handler struct {
	Methods  map[string]Method
	MaxBytes int // of a call; 0 is 16 MiB
}

const (
	defaultMaxBytes = 16 << 20
	maxMultiCalls   = 4096
)

// ServeHTTP answers a call.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "this is XML-RPC: calls come by POST", http.StatusMethodNotAllowed)
		return
	}
	// a page of another origin may send text/plain and forms without being asked first
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind != "text/xml" && kind != "application/xml" {
		http.Error(w, "the content must be text/xml", http.StatusUnsupportedMediaType)
		return
	}
	most := h.MaxBytes
	if most <= 0 {
		most = defaultMaxBytes
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, int64(most)+1))
	if err != nil {
		return // the client is gone
	}
	if len(data) > most {
		http.Error(w, fmt.Sprintf("the call is longer than %d bytes", most), http.StatusRequestEntityTooLarge)
		return
	}
	body := h.answer(r.Context(), data)
	w.Header().Set("Content-Type", "text/xml")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// answer calls the method that data asks for.
func (h *Handler) answer(ctx context.Context, data []byte) []byte {
	method, args, err := readCall(data)
	var v any
	if err == nil {
		v, err = h.call(ctx, method, args)
	}
	var body []byte
	if err == nil {
		body, err = appendAnswer(nil, v)
	}
	if err != nil {
		return appendFault(nil, faultOf(err))
	}
	return body
}

func faultOf(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Code: 1, Text: err.Error()}
}

func (h *Handler) call(ctx context.Context, method string, args []any) (any, error) {
	switch method {
	case "system.multicall":
		return h.multicall(ctx, args)
	case "system.listMethods":
		names := []any{"system.multicall", "system.listMethods"}
		for name := range h.Methods {
			names = append(names, name)
		}
		return names, nil
	}
	f, ok := h.Methods[method]
	if !ok {
		return nil, &Fault{Code: 1, Text: fmt.Sprintf("method %.100q is not supported", method)}
	}
	return f(ctx, args)
}

// multicall makes several calls one after the other; each answer is a list of one value, or
// a fault.
func (h *Handler) multicall(ctx context.Context, args []any) (any, error) {
	var calls []any
	if len(args) == 1 {
		calls, _ = args[0].([]any)
	}
	if calls == nil {
		return nil, &Fault{Code: 1, Text: "system.multicall takes one list of calls"}
	}
	if len(calls) > maxMultiCalls {
		return nil, &Fault{Code: 1, Text: fmt.Sprintf("system.multicall takes at most %d calls, got %d", maxMultiCalls, len(calls))}
	}
	answers := make([]any, len(calls))
	for i, c := range calls {
		one, _ := c.(map[string]any)
		method, ok := one["methodName"].(string)
		params, ok2 := one["params"].([]any)
		if !ok || !ok2 || method == "system.multicall" {
			answers[i] = faultValue(&Fault{Code: 1, Text: "a call has a methodName and params, and is no system.multicall"})
			continue
		}
		if v, err := h.call(ctx, method, params); err != nil {
			answers[i] = faultValue(faultOf(err))
		} else {
			answers[i] = []any{v}
		}
	}
	return answers, nil
}
