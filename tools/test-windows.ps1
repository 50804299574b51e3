# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a cross-build on a real Windows, as an ordinary user: a run refuses an elevated console, and
# the user of a CI runner is elevated. Without arguments it makes that user and starts itself as that user; the
# exit code is the number of programs that failed, and windows.log has their output.
param([string]$Log)
Set-Location (Join-Path $PSScriptRoot '..')

if (-not $Log) {
    $password = ConvertTo-SecureString "Cordon-$(New-Guid)" -AsPlainText -Force
    New-LocalUser cordon -Password $password | Out-Null
    Add-LocalGroupMember -Group Users -Member cordon -ErrorAction SilentlyContinue
    icacls . /grant 'cordon:(OI)(CI)M' /T /Q | Out-Null
    $user = New-Object System.Management.Automation.PSCredential('cordon', $password)
    $run = Start-Process pwsh -Credential $user -LoadUserProfile -WorkingDirectory $PWD -Wait -PassThru `
        -ArgumentList '-NoProfile', '-File', $PSCommandPath, "$PWD\windows.log"
    Get-Content windows.log
    exit $run.ExitCode
}

$failed = 0
function Test($name, [scriptblock]$what) {
    "== $name"
    & $what
    if ($LASTEXITCODE -ne 0) {
        $script:failed++
        "FAILED: $name, exit code $LASTEXITCODE"
    }
}
& {
    build/mingw/cordon.exe --version
    build/mingw/cordon.exe doctor
    Test selftest { build/mingw/cordon.exe selftest }
    foreach ($program in Get-ChildItem build/mingw/tests/*.exe -Exclude token_probe.exe, windows_probe.exe) {
        Test $program.Name { & $program.FullName }
    }
    New-Item -ItemType Directory -Force build/bench/big, build/bench/many | Out-Null
    Copy-Item build/mingw/cordon.exe, build/mingw/cordon-bench.exe build/bench
    Push-Location build/bench
    1..1000 | ForEach-Object { Set-Content "many/$_" $_ }
    1..10000 | ForEach-Object { [IO.File]::Create("$PWD/big/$_").Close() }
    Test bench { ./cordon-bench.exe bench.json system }
    Pop-Location
    '== what this Windows does with the token of a run (a table for docs/evidence.md)'
    build/mingw/tests/token_probe.exe | Tee-Object token_probe.txt
    build/mingw/cordon.exe doctor --objects | Out-File -Encoding utf8 objects.txt
    build/mingw/cordon.exe doctor --ladder | Out-File -Encoding utf8 ladder.txt
    "$failed failed"
} *> $Log
exit $failed
