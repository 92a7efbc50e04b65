module gwc.dev/limit-service

go 1.25.6

require github.com/envoyproxy/ratelimit v1.4.1-0.20260122083618-3fb702589d36
