// SPDX-License-Identifier: Apache-2.0
// Attempts by managed code, one action a call: dotnet_probe ACTION WORD… Prints what happened;
// exits with 0 if it worked.
using System.Diagnostics;

static int Try(Action action)
{
    try
    {
        action();
        Console.WriteLine("worked");
        return 0;
    }
    catch (Exception e)
    {
        Console.WriteLine(e.GetType().Name);
        return 1;
    }
}

static void Threads(string folder)
{
    var wrong = 0;
    var threads = new List<Thread>();
    for (var t = 0; t < 8; t++)
    {
        var number = t;
        var thread = new Thread(() =>
        {
            for (var i = 0; i < 100; i++)
            {
                var path = Path.Combine(folder, $"t{number}-{i}");
                var text = new string((char)('a' + number), i);
                File.WriteAllText(path, text);
                if (File.ReadAllText(path) != text)
                    Interlocked.Increment(ref wrong);
                if (i % 2 == 0)
                    File.Delete(path);
                else
                    File.Move(path, path + ".kept");
            }
        });
        thread.Start();
        threads.Add(thread);
    }
    threads.ForEach(t => t.Join());
    Console.WriteLine($"wrong {wrong}");
    if (wrong > 0)
        throw new InvalidOperationException();
}

static void Child(string line)
{
    using var child = Process.Start(new ProcessStartInfo("cmd.exe", line)
    {
        UseShellExecute = false,
        RedirectStandardOutput = true,
    });
    Console.Write(child!.StandardOutput.ReadToEnd());
    child.WaitForExit();
    Console.WriteLine($"exit {child.ExitCode}");
}

return args[0] switch
{
    "bytes" => Try(() => File.WriteAllBytes(args[1], [120])),
    "mkdir" => Try(() => Directory.CreateDirectory(args[1])),
    "delete" => Try(() => File.Delete(args[1])),
    "threads" => Try(() => Threads(args[1])),
    "child" => Try(() => Child(args[1])),
    "shell" => Try(() => Process.Start(new ProcessStartInfo(args[1]) { UseShellExecute = true })),
    _ => 99,
};
