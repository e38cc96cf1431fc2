module posthaste.example/client-go

go 1.22
